import { declareOptions } from './option.ts';
import { atLeast } from './validators.ts';

const GROUP = 'Health';

/**
 * Thresholds at which `GET /connectors/{connector}/health` reports a connector as STALLED, DEGRADED or LAGGING. Options of a
 * connector, and of the worker as defaults for connectors.
 */
export const healthOptions = declareOptions({
  'stall.after.ms': {
    type: 'LONG',
    default: 60000,
    importance: 'LOW',
    documentation: 'Milliseconds without a delivery, while records are pending, after which a connector is STALLED.',
    group: GROUP,
    order: 1,
    width: 'SHORT',
    displayName: 'Stall time',
    validator: atLeast(1),
  },
  'degraded.rate': {
    type: 'INT',
    default: 0,
    importance: 'LOW',
    documentation: 'Number of dead letters and skipped records per minute, above which a connector is DEGRADED.',
    group: GROUP,
    order: 2,
    width: 'SHORT',
    displayName: 'Degraded rate',
    validator: atLeast(0),
  },
  'lagging.records': {
    type: 'LONG',
    default: 100000,
    importance: 'LOW',
    documentation: 'Number of records that a task may be behind; above it, the connector is LAGGING.',
    group: GROUP,
    order: 3,
    width: 'SHORT',
    displayName: 'Lagging records',
    validator: atLeast(0),
  },
});
