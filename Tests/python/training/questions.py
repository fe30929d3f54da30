"""Questions in SQuAD's form."""


def question(id, text, *answers, **more):
    return {"id": id, "question": text, "answers": [{"text": a, "answer_start": s} for a, s in answers], **more}
