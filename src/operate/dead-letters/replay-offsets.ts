import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../../connect/plugins/plugins-of-config.ts';
import { withAdmin, type TaskClients } from '../../connect/tasks/task-clients.ts';
import type { StoredReplay } from './stored-replay.ts';

/** The offsets that a replay has committed: in its consumer group, and with some sinks in the database. */
export class ReplayOffsets {
  readonly #plugins: PluginRegistry;
  readonly #resolver: ConfigResolver;
  readonly #clients: Pick<TaskClients, 'admin'>;

  constructor(plugins: PluginRegistry, resolver: ConfigResolver, clients: Pick<TaskClients, 'admin'>) {
    this.#plugins = plugins;
    this.#resolver = resolver;
    this.#clients = clients;
  }

  /** Deletes the offsets of a replay that has ended. `given`: the configuration of its connector, with variables. */
  async forget(connector: string, given: ConnectorConfig, { group, topic, partitions }: StoredReplay): Promise<void> {
    const { config } = await this.#resolver.resolve(given);
    const wanted = wantedVersion(config, 'connector.plugin.version');
    const plugin = await this.#plugins.load(this.#plugins.find('connector', config['connector.class'] ?? '', wanted));
    if (plugin.type === 'sink') {
      // The partitions are listed, because an empty list would mean all offsets of the connector.
      const offsets = partitions.map(({ partition }) => ({ topic, partition, offset: null }));
      const own = { ...config, 'consumer.override.group.id': group };
      if (offsets.length > 0) await plugin.alterOffsets?.(own, offsets);
    }
    await withAdmin(this.#clients, { name: connector, config }, (admin) => admin.deleteGroup(group));
  }
}
