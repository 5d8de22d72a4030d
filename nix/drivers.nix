# One package for the launcher and for each driver.
{ lib, runCommand, bench }:
let
  names = [
    "launch"
    "tcp"
    "raknet"
    "kcp-c"
    "quic-go"
    "kcp-go"
    "udp"
    "enet"
  ];
  package =
    name:
    runCommand "transportbench-${name}" { meta.mainProgram = name; } ''
      mkdir -p $out/bin
      cp ${bench}/libexec/transportbench/${name} $out/bin/${name}
    '';
in
lib.genAttrs names package
