import type { TransformationPlugin } from '../../../src/index.ts';
import { byLogicalTableRouter } from './by-logical-table-router.ts';
import { eventRouter } from './event-router.ts';
import { extractNewRecordState } from './extract-new-record-state.ts';
import { headerToValue } from './header-to-value.ts';
import { partitionRouting } from './partition-routing.ts';
import { timezoneConverter } from './timezone-converter.ts';

/** @internal */
export const debeziumTransforms: readonly TransformationPlugin[] = [
  extractNewRecordState,
  eventRouter,
  byLogicalTableRouter,
  timezoneConverter,
  headerToValue,
  partitionRouting,
];
