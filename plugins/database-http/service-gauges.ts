import type { ServiceFigure } from '../../src/index.ts';

/** Resources that the API currently uses. */
export interface ServiceState {
  /** Number of HTTP connections. */
  readonly connections: number;
  /** Number of running requests. */
  readonly running: number;
  readonly sessions: number;
  /** Requests that hold a database connection, and requests that wait for one. */
  readonly slots: { readonly taken: number; readonly waiting: number };
  readonly heldBytes: number;
}

/** Converts the state to gauges for `/metrics`. */
export function serviceGauges({ connections, running, sessions, slots, heldBytes }: ServiceState): ServiceFigure[] {
  const figure = (name: string, help: string, value: number, labels = {}): ServiceFigure => ({
    name: `sluice_database_http_${name}`,
    help,
    labels,
    value,
  });
  const inPool = 'Requests with SQL that hold a database connection, or wait for one';
  return [
    figure('connections', 'Open HTTP connections', connections),
    figure('requests_running', 'Running requests', running),
    figure('sessions', 'Sessions that were opened by a login and have not ended', sessions),
    figure('pool_requests', inPool, slots.taken, { state: 'connected' }),
    figure('pool_requests', inPool, slots.waiting, { state: 'waiting' }),
    figure(
      'held_bytes',
      'Bytes claimed by answers that are held until the results of their queries are known',
      heldBytes,
    ),
  ];
}
