import { readFile } from 'node:fs/promises';
import { didYouMean, parseOptions, SLUICE_VERSION, type ServicePlugin } from '../../src/index.ts';
import { databasePlace, type NanosecondRule } from '../database/index.ts';
import { greetingAliases, influxAliases } from './aliases/influx.ts';
import { influxQueryAliases } from './aliases/influx-query.ts';
import { influxV2Aliases } from './aliases/influx-v2.ts';
import { openTsdbAlias, openTsdbVersion } from './aliases/opentsdb.ts';
import { ingestRoutes } from './ingest/routes.ts';
import { diagnoseApi } from './diagnosis.ts';
import { serviceOptions } from './options.ts';
import type { Route } from './route.ts';
import { DatabaseHttpService } from './service.ts';
import { developmentCertificate } from './transport/certificate.ts';

/** The HTTP API of a database as a service of the worker (`services=database-http`, options `database.http.…`). */
export const databaseHttp: ServicePlugin = {
  type: 'service',
  name: 'database-http',
  className: 'sluice.DatabaseHttp',
  version: SLUICE_VERSION,
  optionPrefix: 'database.http.',
  options: serviceOptions,
  diagnose: diagnoseApi,
  addresses: (config) => parseOptions(serviceOptions, config).listeners,
  certificate: async (config) => {
    const { tls, 'tls.certificate': path, 'tls.directory': directory } = parseOptions(serviceOptions, config);
    if (tls === 'off') return undefined;
    return readFile(path ?? (await developmentCertificate(directory)).certificatePath, 'utf8');
  },
  databasePlace: (config) => {
    const { 'connection.url': url, 'default.database': database } = parseOptions(serviceOptions, config);
    return databasePlace(url, database);
  },
  create: (config, context) => {
    for (const name of Object.keys(config)) {
      if (Object.hasOwn(serviceOptions, name)) continue;
      const hint = didYouMean(name, Object.keys(serviceOptions));
      context.logger.warn(`database.http.${name} is ignored: no such option${hint}`);
    }
    const settings = parseOptions(serviceOptions, config);
    const nanoseconds = settings.nanoseconds as NanosecondRule;
    return new DatabaseHttpService(settings, context, storingRoutes(nanoseconds));
  },
};

/**
 * The ingestion endpoints, and the paths for clients of other systems (docs/database-api.md#clients-of-other-databases).
 * @internal
 */
export function storingRoutes(nanoseconds: NanosecondRule = 'floor'): Route[] {
  return [
    ...ingestRoutes(nanoseconds),
    ...influxAliases(nanoseconds),
    ...influxQueryAliases(),
    ...influxV2Aliases(),
    openTsdbAlias(nanoseconds),
    openTsdbVersion(),
    ...greetingAliases(),
  ];
}
