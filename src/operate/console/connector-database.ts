import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import type { DatabasePlace } from '../../data/database-place.ts';
import type { Herder } from '../../herder/herder.ts';
import { answer, pathName, type Route } from '../../rest/resource.ts';
import { CONNECTOR_DATABASE, type ConnectorDatabase } from './console-answers.ts';
import type { DatabaseApi } from './sql-resource.ts';

/**
 * `/ui/connectors/{connector}/database`: the database that the connector uses, and whether the SQL page runs statements on
 * the same server. The answer contains nothing that the configuration in the console would hide.
 */
export function connectorDatabaseResource(
  { directory }: Herder,
  plugins: PluginRegistry,
  databaseApi: DatabaseApi,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/database',
      answers: { 200: CONNECTOR_DATABASE },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const config = directory.config(name);
        const known = directory.plugin(name);
        // The connector may run on other workers only, so that its plugin is not loaded here.
        const plugin = known && (await plugins.load(known));
        const place = plugin?.databasePlace?.(config);
        const ofApi = place === undefined ? undefined : (await databaseApi())?.place;
        answer(context, 200, connectorDatabase(place, ofApi));
      },
    },
  ];
}

/**
 * The answer for a connector that uses `place`, on a worker whose SQL page uses `ofApi`. `undefined`: unknown, or there is
 * none.
 * @internal
 */
export function connectorDatabase(
  place: DatabasePlace | undefined,
  ofApi: DatabasePlace | undefined,
): ConnectorDatabase {
  if (place === undefined) return { place: null, isOfSql: false };
  const isOfSql = place.server === ofApi?.server;
  // The SQL page would look for a table without a schema in the schema of its own connection.
  const schema = place.schema ?? (isOfSql && ofApi.schema !== undefined ? 'public' : null);
  return { place: { server: place.server, database: place.database, schema }, isOfSql };
}
