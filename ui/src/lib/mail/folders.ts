/** Where a folder stands among the others: a level that cannot be chosen itself stays in the name. */
export function place(label: string, labels: ReadonlySet<string>): { depth: number; name: string } {
  let depth = 0;
  let from = 0;
  for (let at = label.indexOf('/'); at >= 0; at = label.indexOf('/', at + 1)) {
    if (!labels.has(label.slice(0, at))) continue;
    depth += 1;
    from = at + 1;
  }
  return { depth, name: label.slice(from) };
}
