"""Text from people into values: cleaned, or refused in a sentence that names the mend."""
