/** The writer of rows: a connector, or a path of the HTTP API. */
export type RowWriter = { readonly connector: string } | { readonly path: string };

/** Rows that were merged with a later row of their batch, because both have the same key or fall into one microsecond. */
export interface CollapsedRows {
  readonly writer: RowWriter;
  readonly rows: number;
}

const collapsed = new Map<string, CollapsedRows>();

/** Adds collapsed rows to the count of this thread; `/metrics` shows the sum of all threads. */
export function countCollapsed(writer: RowWriter, rows: number): void {
  if (rows > 0) add(collapsed, { writer, rows });
}

/** The counts of this thread since its start. */
export function collapsedRows(): readonly CollapsedRows[] {
  return [...collapsed.values()];
}

/** Sums up the counts of several threads. */
export function sumCollapsed(ofThreads: readonly (readonly CollapsedRows[])[]): readonly CollapsedRows[] {
  const sum = new Map<string, CollapsedRows>();
  for (const counts of ofThreads.flat()) add(sum, counts);
  return [...sum.values()];
}

function add(sum: Map<string, CollapsedRows>, { writer, rows }: CollapsedRows): void {
  const key = JSON.stringify(writer);
  sum.set(key, { writer, rows: (sum.get(key)?.rows ?? 0) + rows });
}
