/** Options that the command line passes to a repeat. */
export interface RepeatOptions {
  /** Number of repetitions, in the unit of the repeat. If absent, the default applies. */
  readonly count: number | undefined;
  readonly seed: number | undefined;
  /** Minutes for each part, instead of a count, if the repeat supports this. */
  readonly minutes?: number | undefined;
  /** The parts to repeat. If absent, all parts. */
  readonly only?: readonly string[] | undefined;
  readonly print: (line: string) => void;
}

/** A long version of a test. Rejects, or resolves with false, if a promise was broken. */
export interface Repeat {
  /** Unit of the count, for the help text. */
  readonly unit: string;
  readonly defaultCount: number;
  readonly run: (options: RepeatOptions) => Promise<boolean>;
}
