"""What holds ptxkit's verdicts against those of others: ptxas as the oracle, and campaigns that ask both."""
