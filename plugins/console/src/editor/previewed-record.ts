import type { Writes } from '../common/previewed-rows.ts';

/** A record of the worker's preview. */
export interface PreviewedRecord extends Writes {
  readonly message: { readonly partition: number; readonly offset: number; readonly timestamp: number };
  readonly record: { readonly key: unknown; readonly value: unknown } | null;
  readonly dropped: boolean;
  readonly faults: readonly { readonly stage: string; readonly message: string }[];
}
