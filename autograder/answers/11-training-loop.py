# Answers to lesson 11, as learners type them. See "How to add an exercise" in the README.
