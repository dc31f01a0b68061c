import { greetingAliases, influxAliases } from './influx.ts';
import { influxQueryAlias } from './influx-query.ts';
import { openTsdbAlias } from './opentsdb.ts';
import type { Route } from '../route.ts';

/** Paths under which clients of other systems find the service (design/decisions.md, "Database HTTP API"). */
export function aliasRoutes(): Route[] {
  return [...influxAliases(), influxQueryAlias(), openTsdbAlias(), ...greetingAliases()];
}
