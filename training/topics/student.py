"""Naive Bayes on counts of words, of labelled texts and of passages whose labels are probabilities."""

import numpy as np

#: Added to each count: the same for all, and by what the teacher says of the word alone, which is what most of the
#: words that are in few texts have to go by.
ALPHA = 0.05
PRIOR = 15.0
#: Words in fewer texts, or in more than this part of them, are left out: the latter tell a source's style.
MIN_DOCUMENTS = 5
MAX_FRACTION = 0.2


class Student:
    """A linear model of counts: logits = counts[features] @ weights, [word, topic], with a mean of 0 for each word."""

    def __init__(self, counts, labels, passages, probabilities, prior):
        """counts, passages: sparse [text, word]. labels: [text], topics' numbers. probabilities: [passage, topic].

        prior: [word, topic], probabilities.
        """
        documents = np.asarray((counts > 0).sum(0)).ravel() + np.asarray((passages > 0).sum(0)).ravel()
        most = MAX_FRACTION * (counts.shape[0] + passages.shape[0])
        self.features = np.flatnonzero((documents >= MIN_DOCUMENTS) & (documents <= most))
        one_hot = np.eye(prior.shape[1])[labels]
        sums = (counts.T @ one_hot + passages.T @ probabilities)[self.features]
        sums = sums + ALPHA + PRIOR * prior[self.features]
        # All topics are equally probable beforehand: how many texts a source has of each says nothing of others.
        weights = np.log(sums) - np.log(sums.sum(0))
        self.weights = weights - weights.mean(1, keepdims=True)

    def logits(self, counts):
        return counts[:, self.features] @ self.weights

    def occurrences(self, counts):
        """[text]: of features, all together."""
        return np.asarray(counts[:, self.features].sum(1)).ravel()
