/** Scans for what a reader or a keyboard cannot use. jsdom has no layout, so contrast is checked by script instead. */
import axe from 'axe-core';

export async function faults(container: Element): Promise<string[]> {
  const result = await axe.run(container, {
    resultTypes: ['violations'],
    rules: {
      'color-contrast': { enabled: false },
      // The heading and landmarks are of the whole window, which is what is scanned.
      region: { enabled: false },
    },
  });
  return result.violations.map(
    (one) => `${one.id}: ${one.help} ${one.nodes.map((node) => node.html.slice(0, 140)).join(' | ')}`,
  );
}
