"""The words of the recall tasks: each is a single token when a space stands before it."""

WORDS = (
    "red blue green black white gold pink gray apple pear plum lemon grape melon bean corn rice bread salt "
    "cat dog cow pig fox wolf bear lion frog fish bird duck goat crab sun moon star rain snow wind fire sea "
    "lake hill rock sand tree leaf rose wood iron tin coal ship boat car bus bike train road gate door wall "
    "roof room desk lamp bell drum harp song king queen knight farm town"
).split()
