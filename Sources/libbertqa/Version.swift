import BertQACore
