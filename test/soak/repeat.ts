/** Options that the command line passes to a repeat. */
export interface RepeatOptions {
  /** How much of it, in the repeat's own unit; absent: its default. */
  readonly count: number | undefined;
  readonly seed: number | undefined;
  /** In place of a count, for repeats that can: how long each of its parts is repeated. */
  readonly minutes?: number | undefined;
  /** The parts to repeat; absent: all. */
  readonly only?: readonly string[] | undefined;
  readonly print: (line: string) => void;
}

/** Something that the tests do briefly and this does for long. Rejects, or gives false, when a promise was broken. */
export interface Repeat {
  /** Unit of the count, for the help text. */
  readonly unit: string;
  readonly defaultCount: number;
  readonly run: (options: RepeatOptions) => Promise<boolean>;
}
