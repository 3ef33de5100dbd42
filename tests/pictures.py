"""Pictures that learners put into their answers."""

DOT = (  # a PNG of one pixel, in Base64
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
