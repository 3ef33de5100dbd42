// The atlas filters itself while you type. Without this file the whole list is there to read.
"use strict";

(() => {
  const form = document.getElementById("atlas-filters");
  const found = document.getElementById("atlas-found");
  const all = document.getElementById("atlas-all");
  const count = document.getElementById("atlas-count");
  const groups = [...all.querySelectorAll(".lesson-claims")];
  // Questions are asked in whole sentences; these words say nothing of what they are about.
  const idle = new Set(("a an and any are at be by can do does for from has have how i if in is it "
    + "its make my not of on or should so than that the then there this to use was what when where "
    + "which who why will with you your true false pytorch torch always never ever").split(" "));
  const words = text => text.toLowerCase().match(/[a-z0-9_.²]+/g) ?? [];
  const parts = word => [word, ...word.split(/[_.]/)];
  const stem = word => word.replace(/^\.+|\.+$/g, "")
    .replace(/(?:ies|ied)$/, "y").replace(/(?:ing|ed|es|s)$/, "");
  const stems = text => new Set(words(text).flatMap(parts).map(stem).filter(Boolean));
  const joined = text => ` ${words(text).map(one => one.replace(/^\.+|\.+$/g, ""))
    .filter(Boolean).join(" ")}`;
  const claims = [...all.querySelectorAll(".claim")].map((item, place) => ({
    item, place, home: item.parentElement,
    verdict: item.dataset.verdict, lesson: item.dataset.lesson,
    keywords: item.dataset.words.split(" "),
  }));

  // The words of all claims are read when somebody first searches: a page that is only opened is
  // there at once.
  let read = false;
  const readWords = () => {
    if (read) return;
    read = true;
    // What stands on the claims' own pages: the question, and the messages that proofs show.
    const searched = JSON.parse(document.getElementById("atlas-searched").textContent);
    for (const claim of claims) {
      const said = claim.item.querySelector(".said").textContent;
      const fact = claim.item.querySelector(".fact").textContent;
      const [asked, ...messages] = searched[claim.item.id];
      claim.said = [...stems(`${said} ${asked} ${claim.item.id.replaceAll("-", " ")}`)];
      claim.fact = [...stems(fact)];
      claim.message = stems(messages.join(" "));
      claim.texts = [asked, said, fact, ...messages].map(joined);
    }
  };

  const weight = (claim, asked) => {
    const near = known => known.includes(asked) ? 2 : known.some(one => one.startsWith(asked)) ? 1 : 0;
    return 3 * near(claim.said) + near(claim.fact) + (claim.message.has(asked) ? 0.5 : 0);
  };

  const chosen = () => {
    const data = new FormData(form);
    return {
      q: (data.get("q") ?? "").trim(), verdicts: data.getAll("verdict"),
      lesson: data.get("lesson"), keyword: data.get("keyword"),
    };
  };

  const passes = (claim, want) =>
    (!want.verdicts.length || want.verdicts.includes(claim.verdict))
    && (!want.lesson || claim.lesson === want.lesson)
    && (!want.keyword || claim.keywords.includes(want.keyword));

  // Claims with all of the words, or, where there is none, those with most of them. The words as
  // they stand, such as an error message that was pasted, come first.
  const ranked = (some, q) => {
    readWords();
    const telling = words(q).filter(word => !idle.has(word));
    const asked = (telling.length ? telling : words(q)).map(stem).filter(Boolean);
    const phrase = words(q).length > 1 ? joined(q) : "";
    const aside = words(q).filter(word => idle.has(word)).map(stem);
    const scored = some.map(claim => {
      const weights = asked.map(one => weight(claim, one));
      const verbatim = Boolean(phrase) && claim.texts.some(one => one.includes(phrase));
      return { claim, hits: verbatim ? asked.length : weights.filter(Boolean).length,
        score: weights.reduce((sum, one) => sum + one, 0) + (verbatim ? 1000 : 0)
          + aside.filter(one => claim.said.includes(one)).length };
    });
    const most = Math.max(0, ...scored.map(one => one.hits));
    const rows = most ? scored.filter(one => one.hits === most) : [];
    rows.sort((a, b) => b.score - a.score || a.claim.place - b.claim.place);
    return { claims: rows.map(one => one.claim), complete: most === asked.length };
  };

  const show = () => {
    const want = chosen();
    const some = claims.filter(claim => passes(claim, want));
    const result = want.q ? ranked(some, want.q) : { claims: some, complete: true };
    const shown = new Set(result.claims);
    if (found.hasChildNodes()) for (const { item, home } of claims) home.append(item);
    if (want.q) found.replaceChildren(...result.claims.map(claim => claim.item));
    found.hidden = !want.q;
    all.hidden = Boolean(want.q);
    for (const claim of claims) claim.item.hidden = !shown.has(claim);
    for (const group of groups) group.hidden = !group.querySelector(".claim:not([hidden])");
    const number = result.claims.length;
    const said = number === 1 ? "1 claim" : `${number} claims`;
    count.textContent = result.complete ? said : `${said}, none with all of these words`;
    count.hidden = false;
    remember(want);
  };

  const remember = want => {
    const query = new URLSearchParams();
    if (want.q) query.set("q", want.q);
    for (const verdict of want.verdicts) query.append("verdict", verdict);
    if (want.lesson) query.set("lesson", want.lesson);
    if (want.keyword) query.set("keyword", want.keyword);
    const text = query.toString();
    history.replaceState(null, "", location.pathname + (text ? `?${text}` : "") + location.hash);
  };

  const restore = () => {
    const query = new URLSearchParams(location.search);
    form.elements.q.value = query.get("q") ?? "";
    for (const box of form.querySelectorAll("[name=verdict]"))
      box.checked = query.getAll("verdict").includes(box.value);
    for (const name of ["lesson", "keyword"]) form.elements[name].value = query.get(name) ?? "";
  };

  restore();
  form.hidden = false;
  document.getElementById("atlas-jump").hidden = true;
  form.addEventListener("input", show);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  show();
})();
