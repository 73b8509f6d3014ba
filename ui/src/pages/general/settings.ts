/** What the sections of this page read and write. */
export interface Settings {
  /** The value in force; undefined: this program has no such setting. */
  value: (key: string) => string | undefined;
  /** Saves it; tells whether that went well. */
  set: (key: string, value: string) => Promise<boolean>;
}
