
// Every column of a table of class "sortable" gets a button that sorts by it. Nothing is lost
// without this script: the table stands in the order of the class list.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const valueOf = (row, column) => {
    const text = row.cells[column].textContent;
    return column ? parseFloat(text.replace("\u2212", "-")) : text.replace("\u2691", "").trim();
  };
  const sort = (column, sign) => {
    const rows = [...body.rows].map(row => [valueOf(row, column), row]);
    rows.sort(([a], [b]) =>
      column ? isNaN(a) - isNaN(b) || sign * (a - b) || 0 : sign * a.localeCompare(b));
    body.append(...rows.map(([, row]) => row));
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "\u21C5";
    button.ariaLabel = "Sort by " + head.dataset.name;
    button.onclick = () => {
      const up = head.ariaSort !== "ascending";
      for (const one of heads) {
        one.removeAttribute("aria-sort");
        one.querySelector("button").textContent = "\u21C5";
      }
      head.ariaSort = up ? "ascending" : "descending";
      button.textContent = up ? "\u2191" : "\u2193";
      sort(column, up ? 1 : -1);
    };
    head.insertBefore(button, head.querySelector(".small"));
  });
}
