/** An option, as `GET /connector-plugins/{plugin}/config` and validations have it. */
export interface OptionView {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default_value: string | null;
  readonly importance: string;
  readonly documentation: string;
}
