# What `nix flake check` runs. The rest of the tests make namespaces; .ci/run runs them outside of the build sandbox.
{ runCommand, bench, netem-vm }:
{
  inherit netem-vm;

  # The published plan has 623 runs on every machine.
  plan = runCommand "transportbench-plan" { } ''
    ${bench}/bin/bench plan > plan.tsv
    test "$(wc -l < plan.tsv)" -eq 623
    cp plan.tsv $out
  '';

  # Every driver that is made of this repository alone keeps the first rules of the contract; `bench conform` tests the others.
  drivers = runCommand "transportbench-drivers" { } ''
    mkdir $out
    for name in tcp raknet quic-go kcp-go udp; do
      ${bench}/libexec/transportbench/$name describe > $out/$name.json
      code=0
      ${bench}/libexec/transportbench/$name -suite=does-not-exist || code=$?
      test $code -eq 127
    done
    ${bench}/bin/bench drivers list
  '';
}
