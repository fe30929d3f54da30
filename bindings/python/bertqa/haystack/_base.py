"""The base of the components."""

from typing import Any, Dict

from haystack import default_from_dict, default_to_dict

from .._hosts import opened, serializable


class Component:
    """A component with its constructor's arguments as attributes."""

    task = ""
    model: Any

    def warm_up(self) -> None:
        """Opens the model before the first run."""
        opened(self.model, self.task)

    def to_dict(self) -> Dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return default_to_dict(self, **{**kept, "model": serializable(self.model)})

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> Any:
        return default_from_dict(cls, data)
