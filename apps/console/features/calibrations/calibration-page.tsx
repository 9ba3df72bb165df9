export function CalibrationPage({ id }: { id: string }) { return <p>CalibrationPage {id}</p>; }
