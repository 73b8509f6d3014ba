/** Where things are in the window: addresses behind the `#`. */

export const PAGES = [
  'status',
  'history',
  'duplicates',
  'attention',
  'mailboxes',
  'destinations',
  'rules',
  'general',
] as const;
export type PageName = (typeof PAGES)[number] | 'setup';

export const link = (page: PageName, ...rest: string[]): string =>
  `#/${[page, ...rest.map(encodeURIComponent)].join('/')}`;

export function go(page: PageName, ...rest: string[]): void {
  window.location.hash = link(page, ...rest);
}

export interface Place {
  page: PageName;
  rest: string[];
}
export function placeOf(hash: string): Place | undefined {
  const [page, ...rest] = hash.replace(/^#\/?/, '').split('/').filter(Boolean);
  const known = [...PAGES, 'setup' as const].find((name) => name === page);
  return known && { page: known, rest: rest.map(decodeURIComponent) };
}
