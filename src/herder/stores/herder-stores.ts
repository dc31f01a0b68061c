import type { ConfigStore } from './config-store.ts';
import type { OffsetStore } from './offset-store.ts';
import type { OwnStore } from './own-store.ts';
import type { StatusStore } from './status-store.ts';

/** The stores of a worker. A distributed worker uses internal topics; a standalone worker uses memory and a file. */
export interface HerderStores {
  readonly configs: ConfigStore;
  readonly offsets: OffsetStore;
  readonly statuses: StatusStore;
  readonly own: OwnStore;
}
