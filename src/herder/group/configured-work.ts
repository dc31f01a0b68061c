import type { ConfigStore } from '../stores/config-store.ts';
import type { Work } from './group-bytes.ts';
import type { ConfiguredWork } from './worker-protocol.ts';

/** The config store as the division of work sees it. */
export function configuredWork(
  configs: ConfigStore,
): ConfiguredWork & { taskCount(connector: string): number | undefined } {
  return {
    get offset() {
      return configs.offset;
    },
    refresh: () => configs.refresh(),
    taskCount: (connector) => configs.connector(connector)?.taskConfigs.length,
    work: (): Work => {
      const connectors = configs.names();
      const tasks = connectors.flatMap((connector) =>
        (configs.connector(connector)?.taskConfigs ?? []).map((_, task) => ({ connector, task })),
      );
      return { connectors, tasks };
    },
  };
}
