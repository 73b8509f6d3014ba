/** The few methods that the app answers itself: what only a program on this computer can do. */
import type { Nothing } from './types';

export interface AppMethods {
  /** Opens an address in the system's browser; only https, after a check of the scheme. */
  'link.open': [{ url: string }, Nothing];
  /** Asks where to by a native dialog and writes a copy of the data, or a problem report without mail content. */
  'data.export': [Nothing, { path: string | null }];
  'data.report': [Nothing, { path: string | null }];
}
