import { ConfigError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';

const INT_MAX = 2 ** 31 - 1;

/** Reads Java client properties with ConfigDef's error messages, and tracks which ones were read. */
export class PropertyReader {
  readonly #properties: Readonly<Record<string, string | undefined>>;
  readonly #known = new Set<string>();

  constructor(properties: Readonly<Record<string, string | undefined>>) {
    this.#properties = properties;
  }

  /** `undefined` if absent or empty. */
  text(name: string): string | undefined {
    this.#known.add(name);
    const value = this.#properties[name]?.trim();
    return value === '' ? undefined : value;
  }

  /** True if present, even if empty. */
  has(name: string): boolean {
    return this.#properties[name] !== undefined;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) {
      throw new ConfigError(`Missing required configuration "${name}" which has no default value.`);
    }
    return value;
  }

  int(name: string, defaultValue: number, min = 0): number {
    const value = this.text(name);
    if (value === undefined) return defaultValue;
    const number = Number(value);
    if (!/^[-+]?\d+$/.test(value) || Math.abs(number) > Number.MAX_SAFE_INTEGER) {
      throw new ConfigError(`Invalid value ${value} for configuration ${name}: Not a number of type LONG`);
    }
    if (number < min) {
      throw new ConfigError(`Invalid value ${value} for configuration ${name}: Value must be at least ${String(min)}`);
    }
    return number;
  }

  /** A duration for a 32-bit field or a timer; larger values such as Long.MAX_VALUE are clipped. */
  durationMs(name: string, defaultValue: number, min = 0): number {
    const value = this.text(name);
    if (value !== undefined && /^\d{16,19}$/.test(value)) return INT_MAX;
    return Math.min(INT_MAX, this.int(name, defaultValue, min));
  }

  boolean(name: string, defaultValue: boolean): boolean {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return defaultValue;
    if (value === 'true' || value === 'false') return value === 'true';
    throw new ConfigError(
      `Invalid value ${value} for configuration ${name}: Expected value to be either true or false`,
    );
  }

  choice<T extends string>(name: string, choices: readonly T[], defaultValue: T): T {
    const value = this.text(name);
    if (value === undefined) return defaultValue;
    const choice = choices.find((candidate) => candidate.toLowerCase() === value.toLowerCase());
    if (choice === undefined) {
      throw new ConfigError(
        `Invalid value ${value} for configuration ${name}: String must be one of: ${choices.join(', ')}`,
      );
    }
    return choice;
  }

  list(name: string): readonly string[] {
    const entries = (this.text(name) ?? '').split(',').map((entry) => entry.trim());
    return entries.filter((entry) => entry !== '');
  }

  /** Marks keys as known although they have no effect here. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#known.add(name);
  }

  /**
   * Logs the keys that were set but not read, as the Java clients do. Values are not logged, because they may be
   * secrets.
   */
  logUnknown(logger: Logger): void {
    const unknown = Object.keys(this.#properties).filter((name) => !this.#known.has(name));
    if (unknown.length > 0) logger.info({ properties: unknown }, 'Unused client properties have no effect');
  }
}
