"""The playground: a page that lints and formats PTX in the browser."""
