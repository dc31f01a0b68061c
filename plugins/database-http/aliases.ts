import { greetingAliases, influxAliases } from './aliases-influx.ts';
import { influxQueryAlias } from './aliases-influx-query.ts';
import { openTsdbAlias } from './aliases-opentsdb.ts';
import type { Route } from './route.ts';

/** Paths under which clients of other systems find the service (design/decisions.md, "Database HTTP API"). */
export function aliasRoutes(): Route[] {
  return [...influxAliases(), influxQueryAlias(), openTsdbAlias(), ...greetingAliases()];
}
