import { DatabaseError } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { isSettingName, type ServerSettings } from '../server-settings.ts';
import { isInvalidValue } from '../time-zone.ts';

/** `SET CLUSTER SETTING`, for administrators. ApiFailure 400 for others and for settings that are none here. */
export async function changeClusterSetting(
  request: ApiRequest,
  name: string,
  value: string | undefined,
  parts: { readonly settings: ServerSettings; readonly defaultDatabase: string },
): Promise<void> {
  if (!isSettingName(name)) throw unknownSetting(name, parts.settings);
  if (!(await request.login.isAdministrator())) {
    throw new ApiFailure(400, 'pq: only users with the admin role are allowed to SET CLUSTER SETTING');
  }
  try {
    await parts.settings.set(name, value, request.executorOn(parts.defaultDatabase), parts.defaultDatabase);
  } catch (error) {
    if (error instanceof DatabaseError && isInvalidValue(error)) throw databaseFailure(error);
    throw error;
  }
}

/** The settings that `SHOW CLUSTER SETTING [name]` prints, by name. */
export function clusterSettings(name: string | undefined, settings: ServerSettings): readonly [string, string][] {
  if (name === undefined) return settings.names().map((each) => [each, settings.show(each)]);
  if (!isSettingName(name)) throw unknownSetting(name, settings);
  return [[name, settings.show(name)]];
}

function unknownSetting(name: string, settings: ServerSettings): ApiFailure {
  const known = settings.names().join(', ');
  return new ApiFailure(400, `pq: unknown cluster setting "${name.slice(0, 100)}"; there are ${known}`);
}
