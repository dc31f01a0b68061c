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
    documentation:
      'A connector is STALLED if records are pending and none was delivered for this number of milliseconds.',
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
    documentation:
      'A connector is DEGRADED if more records than this became dead letters or were skipped within a minute.',
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
    documentation: 'A connector is LAGGING if one of its tasks is behind by more than this number of records.',
    group: GROUP,
    order: 3,
    width: 'SHORT',
    displayName: 'Lagging records',
    validator: atLeast(0),
  },
});
