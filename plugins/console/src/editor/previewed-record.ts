/** A record of the worker's preview. */
export interface PreviewedRecord {
  readonly message: { readonly partition: number; readonly offset: number; readonly timestamp: number };
  readonly record: { readonly key: unknown; readonly value: unknown } | null;
  readonly dropped: boolean;
  readonly rows?: readonly {
    readonly table: string;
    readonly operation: string;
    readonly columns: readonly string[];
    readonly values: readonly unknown[];
  }[];
  readonly lines?: readonly string[];
  readonly statements?: readonly string[];
  readonly faults: readonly { readonly stage: string; readonly message: string }[];
}

/** A longer value is cut. */
const MAX_TEXT = 4000;

/** A value as the JSON converter has it, without its schema. */
export function payloadText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const payload = isEnvelope(value) ? value.payload : value;
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** `column = value`, one a line. */
export function rowText(columns: readonly string[], values: readonly unknown[]): string {
  return columns.map((column, index) => `${column} = ${cellText(values[index])}`).join('\n');
}

function cellText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function isEnvelope(value: unknown): value is { readonly payload: unknown } {
  return typeof value === 'object' && value !== null && 'schema' in value && 'payload' in value;
}
