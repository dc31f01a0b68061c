import type { ConfigStore } from './config-store.ts';
import type { OffsetStore } from './offset-store.ts';
import type { OwnStore } from './own-store.ts';
import type { StatusStore } from './status-store.ts';

/** The stores of a worker: internal topics of a distributed worker, memory and a file of a standalone one. */
export interface HerderStores {
  readonly configs: ConfigStore;
  readonly offsets: OffsetStore;
  readonly statuses: StatusStore;
  readonly own: OwnStore;
}
