"""Which words on a page are too faint: contrast below 4.5 to 1, as WCAG counts it."""

from __future__ import annotations

from playwright.sync_api import Page

_FAINT = """selector => {
    const parse = text => {
        const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number);
        const unit = text.startsWith('color(srgb') ? 255 : 1;
        return [r * unit, g * unit, b * unit, a ?? 1];
    };
    const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
    const ground = one => {
        const layers = [];
        for (; one; one = one.parentElement) {
            const colour = parse(getComputedStyle(one).backgroundColor);
            if (colour[3]) layers.push(colour);
            if (colour[3] === 1) break;
        }
        return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
    };
    const light = colour => {
        const [r, g, b] = colour.map(c => c / 255)
            .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    };
    const faint = [];
    for (const one of document.querySelectorAll(selector)) {
        const words = [...one.childNodes].filter(x => x.nodeType === 3 && x.data.trim());
        if (!words.length || !one.getClientRects().length) continue;
        if (one.closest('[disabled], option')) continue;
        const under = ground(one);
        const found = contrast(over(parse(getComputedStyle(one).color), under), under);
        if (found < 4.5) faint.push([words[0].data.trim().slice(0, 40), found.toFixed(2)]);
    }
    return faint;
}"""


def faint_words(page: Page, selector: str) -> list[list[str]]:
    """The first words of each faint text among the elements of `selector`, with their contrast.

    Colours are the computed ones, half-transparent layers included; what is hidden or switched off
    does not count.
    """
    found: list[list[str]] = page.evaluate(_FAINT, selector)
    return found
