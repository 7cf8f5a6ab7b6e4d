//! What the answers and patches of agents are made of, shown on cases and on generated texts.
