import { DatabaseError } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { isSettingName, type ServerSettings } from '../server-settings.ts';
import { isInvalidValue } from '../time-zone.ts';

/** `SET CLUSTER SETTING` and `SHOW CLUSTER SETTING`. Both throw an ApiFailure with status 400 if the setting does not exist. */
export class ClusterSettings {
  readonly #settings: ServerSettings;
  readonly #defaultDatabase: string;

  /** The settings are stored in the default database. */
  constructor(settings: ServerSettings, defaultDatabase: string) {
    this.#settings = settings;
    this.#defaultDatabase = defaultDatabase;
  }

  /** Changes a setting, or resets it if `value` is undefined. Rejects with an ApiFailure 400 if the user is not an administrator. */
  async change(request: ApiRequest, name: string, value: string | undefined): Promise<void> {
    if (!isSettingName(name)) throw unknownSetting(name, this.#settings);
    if (!(await request.login.isAdministrator())) {
      throw new ApiFailure(400, 'pq: only users with the admin role are allowed to SET CLUSTER SETTING');
    }
    const database = this.#defaultDatabase;
    try {
      await this.#settings.set(name, value, request.executorOn(database), database);
    } catch (error) {
      if (error instanceof DatabaseError && isInvalidValue(error)) throw databaseFailure(error);
      throw error;
    }
  }

  /** Names and values for `SHOW CLUSTER SETTING [name]`; all settings if `name` is undefined. */
  shown(name: string | undefined): readonly [string, string][] {
    const settings = this.#settings;
    if (name === undefined) return settings.names().map((each) => [each, settings.show(each)]);
    if (!isSettingName(name)) throw unknownSetting(name, settings);
    return [[name, settings.show(name)]];
  }
}

function unknownSetting(name: string, settings: ServerSettings): ApiFailure {
  const known = settings.names().join(', ');
  return new ApiFailure(400, `pq: unknown cluster setting "${name.slice(0, 100)}"; there are ${known}`);
}
