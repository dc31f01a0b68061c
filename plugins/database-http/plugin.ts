import { parseOptions, SLUICE_VERSION, type ServicePlugin } from '../../src/index.ts';
import { aliasRoutes } from './aliases/aliases.ts';
import { ingestRoutes } from './ingest/routes.ts';
import { serviceOptions } from './options.ts';
import { DatabaseHttpService } from './service.ts';

/** The database's HTTP API as a service of the worker: `services=database-http`, options `database.http.…`. */
export const databaseHttp: ServicePlugin = {
  type: 'service',
  name: 'database-http',
  className: 'sluice.DatabaseHttp',
  version: SLUICE_VERSION,
  optionPrefix: 'database.http.',
  options: serviceOptions,
  create: (config, context) => {
    for (const name of Object.keys(config)) {
      if (!(name in serviceOptions)) context.logger.warn(`database.http.${name} is ignored: no such option`);
    }
    return new DatabaseHttpService(parseOptions(serviceOptions, config), context, {
      routes: [...ingestRoutes(), ...aliasRoutes()],
    });
  },
};
