import type { BenchServices } from './bench-services.ts';

/** Throws unless both tables (or queries in parentheses) contain the same rows, and this number of them. */
export async function expectSameRows(
  services: BenchServices,
  left: string,
  right: string,
  rows: number,
): Promise<void> {
  const [stored, wanted] = [await countOf(services, left), await countOf(services, right)];
  if (stored !== rows || wanted !== rows) {
    throw new Error(`${String(stored)} and ${String(wanted)} rows are stored, not ${String(rows)}`);
  }
  const other = await services.number(
    `select count(*) from (select * from ${left} l except select * from ${right} r) as other`,
  );
  if (other !== 0) throw new Error(`${String(other)} rows differ from those that were to be stored`);
}

async function countOf(services: BenchServices, rows: string): Promise<number> {
  return services.number(`select count(*) from ${rows} t`);
}
