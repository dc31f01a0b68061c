/** A way in for text from outside. */
export interface Scanner {
  readonly name: string;
  /** Reads the text, or throws. */
  readonly read: (text: string) => unknown;
}

export function scanner(name: string, read: (text: string) => unknown): Scanner {
  return { name, read };
}
