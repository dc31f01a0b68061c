/** Parses an LSN in PostgreSQL's text format (`0/16B3748`). */
export function parseLsn(text: string): bigint {
  const [, high = '', low = ''] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text) ?? [];
  if (low === '') throw new Error(`${JSON.stringify(text)} is not a WAL location such as 0/16B3748`);
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Formats an LSN as PostgreSQL does. */
export function lsnText(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase();
}
