"""How text is made: the next token, search, and what is kept between tokens."""
