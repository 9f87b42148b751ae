"""How values are shown."""
from django import template
register = template.Library()
