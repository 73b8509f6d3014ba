/**
 * What pages need and the engine does not have yet. Each is a typed function with what it is to do; the fake host
 * answers all of them. A method or field that the engine gains moves to `types.ts` and goes from here.
 */
import type { Nothing, Status, Time } from './types';

/** What `status.get` should say besides. */
export interface StatusExtras {
  /** All watching is paused until then; absent or null: it is not. */
  paused_until?: Time | null;
  /** This computer has no network since then. */
  offline_since?: Time | null;
  /** The keychain cannot be used. */
  keychain_error?: string | null;
  /** A newer version is ready. */
  update?: string | null;
}
export type FullStatus = Status & StatusExtras;

/** Methods that are there and should say more. */
export interface ExtendedMethods {
  'status.get': [Nothing, FullStatus];
}

/** Methods that are not there yet. */
export interface WantedMethods {
  /** Opens an address in the system's browser; only https, after a check of the scheme. */
  'link.open': [{ url: string }, Nothing];
  /** Asks where to by a native dialog and writes a copy of the data, or a problem report without mail content. */
  'data.export': [Nothing, { path: string | null }];
  'data.report': [Nothing, { path: string | null }];
}
