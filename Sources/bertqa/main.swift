import Glibc

exit(Tool.run().rawValue)
